import type { IAuthenticateGeneric, Icon, ICredentialTestRequest, ICredentialType, INodeProperties } from 'n8n-workflow';

export class PressroomApi implements ICredentialType {
	name = 'pressroomApi';

	displayName = 'Pressroom API';

	icon: Icon = { light: 'file:../icons/pressroom.svg', dark: 'file:../icons/pressroom.dark.svg' };

	documentationUrl = 'https://pressroom.example/pressroom/integrations/n8n-nodes-pressroom';

	properties: INodeProperties[] = [
		{
			displayName: 'URL',
			name: 'url',
			type: 'string',
			default: '',
			required: true,
			placeholder: 'https://pressroom.example',
			description: 'Address of your pressroom',
		},
		{
			displayName: 'API Key',
			name: 'apiKey',
			type: 'string',
			typeOptions: { password: true },
			default: '',
			required: true,
			description: 'Create it in pressroom under Settings. The level drafts reads and drafts; full schedules and publishes too.',
		},
	];

	authenticate: IAuthenticateGeneric = {
		type: 'generic',
		properties: { headers: { Authorization: '=Bearer {{$credentials.apiKey}}' } },
	};

	test: ICredentialTestRequest = {
		request: { baseURL: '={{$credentials.url.replace(/\\/+$/, "")}}/api/v1', url: '/me', method: 'GET' },
	};
}
