// Requests a passkey, or creates one, on the person's device, and sends the response with the button's form.
'use strict';

(() => {
  if (!window.PublicKeyCredential || !navigator.credentials) return;

  const bytes = (text) => Uint8Array.from(atob(text.replace(/-/g, '+').replace(/_/g, '/')), (c) => c.charCodeAt(0));
  const text = (buffer) => btoa(String.fromCharCode(...new Uint8Array(buffer))).replace(/\+/g, '-').replace(/\//g, '_').replace(/=+$/, '');

  // options decodes the service's options: bytes are base64url.
  const options = (o) => {
    const named = (list) => (list || []).map((c) => ({ ...c, id: bytes(c.id) }));
    const out = { ...o, challenge: bytes(o.challenge) };
    if (o.user) out.user = { ...o.user, id: bytes(o.user.id) };
    if (o.excludeCredentials) out.excludeCredentials = named(o.excludeCredentials);
    if (o.allowCredentials) out.allowCredentials = named(o.allowCredentials);
    return out;
  };

  // answer encodes the device's response in the same way.
  const answer = (c) => {
    const response = {};
    for (const part of ['clientDataJSON', 'attestationObject', 'authenticatorData', 'signature', 'userHandle']) {
      if (c.response[part]) response[part] = text(c.response[part]);
    }
    if (c.response.getTransports) response.transports = c.response.getTransports();
    return JSON.stringify({
      id: c.id, rawId: text(c.rawId), type: c.type, response,
      authenticatorAttachment: c.authenticatorAttachment || undefined, clientExtensionResults: c.getClientExtensionResults(),
    });
  };

  const said = document.querySelector('[data-passkey-said]');
  const say = (words) => {
    if (!said) return;
    said.textContent = words;
    said.hidden = !words;
  };
  const failures = {
    NotAllowedError: translate('No passkey was used: the request was canceled or timed out, or this device has no passkey for this site.'),
    InvalidStateError: translate('This device already has a passkey for this account.'),
  };

  const use = async (button) => {
    const form = button.form;
    const name = form.elements.name;
    if (name && !name.reportValidity()) return;
    say('');
    button.disabled = true;
    try {
      const asked = await fetch(button.dataset.options, { method: 'POST', body: new URLSearchParams({ name: name ? name.value : '' }) });
      if (asked.redirected) {
        location.assign(asked.url);
        return;
      }
      const told = await asked.json();
      if (!asked.ok) {
        say(told.error);
        return;
      }
      const credential = await navigator.credentials[button.dataset.passkey]({ publicKey: options(told.publicKey) });
      form.elements.passkey.value = answer(credential);
      form.submit();
    } catch (error) {
      say(failures[error.name] || translate('The passkey could not be used. Try again, or sign in another way.'));
    } finally {
      button.disabled = false;
    }
  };

  for (const button of document.querySelectorAll('[data-passkey]')) {
    button.hidden = false;
    button.addEventListener('click', () => use(button));
    if (button.form.querySelector('button:not([type=button])')) continue;
    // Enter in a field presses the only button.
    button.form.addEventListener('submit', (event) => {
      event.preventDefault();
      use(button);
    });
  }
  for (const note of document.querySelectorAll('[data-passkey-missing]')) note.hidden = true;
})();
