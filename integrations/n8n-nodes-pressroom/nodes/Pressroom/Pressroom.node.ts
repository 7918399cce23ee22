import type { ILoadOptionsFunctions, INodePropertyOptions, INodeType, INodeTypeDescription } from 'n8n-workflow';
import { NodeConnectionTypes } from 'n8n-workflow';
import { accountDescription } from './resources/account';
import { mediaDescription } from './resources/media';
import { postDescription } from './resources/post';
import { addIdempotencyKey, baseURL, listItems, raiseProblem } from './shared';

export class Pressroom implements INodeType {
	description: INodeTypeDescription = {
		displayName: 'pressroom',
		name: 'pressroom',
		icon: { light: 'file:../../icons/pressroom.svg', dark: 'file:../../icons/pressroom.dark.svg' },
		group: ['output'],
		version: 1,
		subtitle: '={{$parameter["operation"] + ": " + $parameter["resource"]}}',
		description: 'Draft, schedule and publish social media posts',
		defaults: { name: 'pressroom' },
		usableAsTool: true,
		inputs: [NodeConnectionTypes.Main],
		outputs: [NodeConnectionTypes.Main],
		credentials: [{ name: 'pressroomApi', required: true }],
		requestDefaults: { baseURL, headers: { Accept: 'application/json' }, ignoreHttpStatusErrors: true },
		properties: [
			{
				displayName: 'Resource',
				name: 'resource',
				type: 'options',
				noDataExpression: true,
				default: 'post',
				options: [
					{ name: 'Account', value: 'account' },
					{ name: 'Analytic', value: 'analytics' },
					{ name: 'Job', value: 'job' },
					{ name: 'Media', value: 'media' },
					{ name: 'Post', value: 'post' },
				],
				// For all operations.
				routing: { send: { preSend: [addIdempotencyKey] }, output: { postReceive: [raiseProblem] } },
			},
			...postDescription,
			...mediaDescription,
			...accountDescription,
		],
	};

	methods = {
		loadOptions: {
			async getAccounts(this: ILoadOptionsFunctions): Promise<INodePropertyOptions[]> {
				const accounts = await listItems.call(this, '/social-accounts', 'social_accounts');
				return accounts.map((account) => ({ name: `${account.username} (${account.platform})`, value: account.id as number }));
			},
		},
	};
}
