import type { INodeProperties } from 'n8n-workflow';
import { listOptions, onlyData } from '../shared';

export const accountDescription: INodeProperties[] = [
	{
		displayName: 'Operation',
		name: 'operation',
		type: 'options',
		noDataExpression: true,
		displayOptions: { show: { resource: ['account'] } },
		default: 'getAll',
		options: [
			{
				name: 'Get Many',
				value: 'getAll',
				action: 'Get many accounts',
				routing: { request: { method: 'GET', url: '/social-accounts' } },
			},
		],
	},
	...listOptions('account', 'social_accounts'),
	{
		displayName: 'Operation',
		name: 'operation',
		type: 'options',
		noDataExpression: true,
		displayOptions: { show: { resource: ['analytics'] } },
		default: 'get',
		options: [
			{
				name: 'Get',
				value: 'get',
				action: 'Get analytics of an account',
				routing: {
					request: { method: 'GET', url: '=/social-accounts/{{ encodeURIComponent($parameter.accountId) }}/analytics' },
					output: onlyData,
				},
			},
		],
	},
	{
		displayName: 'Account Name or ID',
		name: 'accountId',
		type: 'options',
		required: true,
		default: '',
		description: 'Choose from the list, or specify an ID using an <a href="https://docs.n8n.io/code/expressions/">expression</a>',
		typeOptions: { loadOptionsMethod: 'getAccounts' },
		displayOptions: { show: { resource: ['analytics'] } },
	},
	{
		displayName: 'Days',
		name: 'days',
		type: 'number',
		typeOptions: { minValue: 1 },
		default: 28,
		description: 'Number of days that the analytics cover',
		displayOptions: { show: { resource: ['analytics'] } },
		routing: { send: { type: 'query', property: 'period_days' } },
	},
	{
		displayName: 'Operation',
		name: 'operation',
		type: 'options',
		noDataExpression: true,
		displayOptions: { show: { resource: ['job'] } },
		default: 'get',
		options: [
			{
				name: 'Get',
				value: 'get',
				action: 'Get a job',
				routing: { request: { method: 'GET', url: '=/jobs/{{ encodeURIComponent($parameter.jobId) }}' }, output: onlyData },
			},
		],
	},
	{
		displayName: 'Job ID',
		name: 'jobId',
		type: 'string',
		required: true,
		default: '',
		placeholder: 'social_post:…',
		description: 'The job of a publication or an import. It has a result once finished is true.',
		displayOptions: { show: { resource: ['job'] } },
	},
];
