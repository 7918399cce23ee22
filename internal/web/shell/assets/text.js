// Translates the texts of scripts into the language of the page. The English text is the key. Pages in other languages load
// a version of this script with the translations.
'use strict';

self.texts = {};

self.fillText = (text, values) => text.replace(/%[sd]/g, () => String(values.shift()));

// translate returns a text with values in place of %s and %d.
self.translate = (text, ...values) => self.fillText(self.texts[text] ?? text, values);

// translateCount returns the text `one` if n is 1, otherwise the text `other`. n replaces the first placeholder, before
// values.
self.translateCount = (n, one, other, ...values) => {
  const found = self.texts[other] ?? { one, other };
  return self.fillText(n === 1 ? found.one : found.other, [n, ...values]);
};
