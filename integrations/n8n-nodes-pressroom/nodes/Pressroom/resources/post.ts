import type { IHttpRequestMethods, INodeProperties, INodePropertyRouting } from 'n8n-workflow';
import { keyField, listOptions, onlyData } from '../shared';

const show = { resource: ['post'] };

/** Returns the request of an operation on one post. */
function onPost(method: IHttpRequestMethods, path = ''): INodePropertyRouting {
	return { request: { method, url: `=/posts/{{ encodeURIComponent($parameter.postId) }}${path}` }, output: onlyData };
}

/** An empty field keeps the media. What is not a list of numbers is sent as it is, so that pressroom rejects it. */
const mediaIds: INodeProperties = {
	displayName: 'Media IDs',
	name: 'mediaIds',
	type: 'string',
	default: '',
	placeholder: '1, 2',
	description: 'IDs of images or videos of the library, separated by commas. Leave empty in an update to keep the media.',
	routing: {
		send: {
			type: 'body',
			property: 'media_ids',
			value: '={{ String($value).match(/[^\\s,]+/g)?.map((id) => Number(id) || id) }}',
		},
	},
};

export const postDescription: INodeProperties[] = [
	{
		displayName: 'Operation',
		name: 'operation',
		type: 'options',
		noDataExpression: true,
		displayOptions: { show },
		default: 'create',
		options: [
			{
				name: 'Cancel',
				value: 'cancel',
				action: 'Unschedule a post',
				description: 'Make a scheduled post a draft again',
				routing: onPost('POST', '/cancel'),
			},
			{
				name: 'Create',
				value: 'create',
				action: 'Create a draft',
				description: 'Create a draft. Nothing is sent to a network.',
				routing: { request: { method: 'POST', url: '/posts' }, output: onlyData },
			},
			{
				name: 'Get',
				value: 'get',
				action: 'Get a post',
				description: 'Get a post with the state of each account',
				routing: onPost('GET'),
			},
			{
				name: 'Get Many',
				value: 'getAll',
				action: 'Get many posts',
				description: 'Get many posts, newest first',
				routing: { request: { method: 'GET', url: '/posts' } },
			},
			{
				name: 'Publish',
				value: 'publish',
				action: 'Publish a post',
				description: 'Publish a post now. This cannot be undone.',
				routing: onPost('POST', '/publish'),
			},
			{
				name: 'Schedule',
				value: 'schedule',
				action: 'Schedule a post',
				description: 'Publish a draft at a time',
				routing: onPost('POST', '/schedule'),
			},
			{
				name: 'Update',
				value: 'update',
				action: 'Update a post',
				description: 'Change a draft or a scheduled post',
				routing: onPost('PATCH'),
			},
			{
				name: 'Validate',
				value: 'validate',
				action: 'Validate a post',
				description: 'Check what the networks would reject',
				routing: onPost('GET', '/validation'),
			},
		],
	},
	{
		displayName: 'Post ID',
		name: 'postId',
		type: 'string',
		required: true,
		default: '',
		displayOptions: { show: { ...show, operation: ['cancel', 'get', 'publish', 'schedule', 'update', 'validate'] } },
	},
	{
		displayName: 'Caption',
		name: 'caption',
		type: 'string',
		typeOptions: { rows: 4 },
		default: '',
		description: 'The text of the post',
		displayOptions: { show: { ...show, operation: ['create'] } },
		routing: { send: { type: 'body', property: 'caption' } },
	},
	{
		displayName: 'Caption',
		name: 'caption',
		type: 'string',
		typeOptions: { rows: 4 },
		default: '',
		description: 'The new text of the post. Leave empty to keep the text.',
		displayOptions: { show: { ...show, operation: ['update'] } },
		routing: { send: { type: 'body', property: 'caption', value: '={{ $value || undefined }}' } },
	},
	{
		displayName: 'Account Names or IDs',
		name: 'accountIds',
		type: 'multiOptions',
		required: true,
		default: [],
		description:
			'Choose from the list, or specify IDs using an <a href="https://docs.n8n.io/code/expressions/">expression</a>',
		typeOptions: { loadOptionsMethod: 'getAccounts' },
		displayOptions: { show: { ...show, operation: ['create'] } },
		routing: { send: { type: 'body', property: 'account_ids', value: '={{ $value.map((id) => Number(id)) }}' } },
	},
	{
		displayName: 'Time',
		name: 'scheduledAt',
		type: 'string',
		required: true,
		default: '',
		placeholder: '2031-01-02T10:00',
		description: 'When to publish the post, in ISO 8601; without an offset in the time zone of the team',
		displayOptions: { show: { ...show, operation: ['schedule'] } },
		routing: { send: { type: 'body', property: 'scheduled_at' } },
	},
	...listOptions('post', 'posts'),
	{
		displayName: 'Filters',
		name: 'filters',
		type: 'collection',
		placeholder: 'Add Filter',
		default: {},
		displayOptions: { show: { ...show, operation: ['getAll'] } },
		options: [
			{
				displayName: 'Account ID',
				name: 'accountId',
				type: 'string',
				default: '',
				routing: { send: { type: 'query', property: 'account_id' } },
			},
			{
				displayName: 'From',
				name: 'from',
				type: 'string',
				default: '',
				description: 'Only posts scheduled or published at or after this time, in ISO 8601',
				routing: { send: { type: 'query', property: 'from' } },
			},
			{
				displayName: 'Status',
				name: 'status',
				type: 'options',
				default: 'draft',
				options: [
					{ name: 'Draft', value: 'draft' },
					{ name: 'Failed', value: 'failed' },
					{ name: 'Partially Published', value: 'partially_published' },
					{ name: 'Processing', value: 'processing' },
					{ name: 'Published', value: 'published' },
					{ name: 'Scheduled', value: 'scheduled' },
				],
				routing: { send: { type: 'query', property: 'status' } },
			},
			{
				displayName: 'To',
				name: 'to',
				type: 'string',
				default: '',
				description: 'Only posts scheduled or published before this time, in ISO 8601',
				routing: { send: { type: 'query', property: 'to' } },
			},
		],
	},
	keyField('post', ['create', 'update'], [mediaIds]),
	keyField('post', ['cancel', 'publish', 'schedule']),
];
