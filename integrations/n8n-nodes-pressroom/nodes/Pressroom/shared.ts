import type {
	IDataObject,
	IExecuteSingleFunctions,
	IHttpRequestOptions,
	ILoadOptionsFunctions,
	IN8nHttpFullResponse,
	INodeExecutionData,
	INodeProperties,
	IPollFunctions,
	JsonObject,
} from 'n8n-workflow';
import { NodeApiError } from 'n8n-workflow';

export const baseURL = '={{$credentials.url.replace(/\\/+$/, "")}}/api/v1';

/**
 * Adds an idempotency key to a write. It is the same whenever n8n tries an item of an execution again, so that nothing is done twice.
 */
export async function addIdempotencyKey(this: IExecuteSingleFunctions, request: IHttpRequestOptions): Promise<IHttpRequestOptions> {
	const execution = this.getExecutionId();
	if (request.method === 'GET' || !execution) return request;
	const given = this.getNodeParameter('additionalFields.idempotencyKey', '') as string;
	const run = this.evaluateExpression('{{ $runIndex }}', this.getItemIndex()) as number;
	const key = given || `n8n-${execution}-${this.getNode().id}-${run}-${this.getItemIndex()}`;
	return { ...request, headers: { ...request.headers, 'Idempotency-Key': key } };
}

const advice: Record<string, string> = {
	unauthorized: 'Check the API key of the credential. It may be wrong, revoked or expired.',
	write_not_allowed: 'The API key must have the level drafts or full.',
	publish_not_allowed: 'The API key must have the level full.',
	preflight_blocked: 'Validate the post to see what the networks would reject.',
	awaiting_client_approval: 'The client must approve the post first.',
};

/** Turns a problem document into an error that says what to do. */
export async function raiseProblem(
	this: IExecuteSingleFunctions,
	items: INodeExecutionData[],
	response: IN8nHttpFullResponse,
): Promise<INodeExecutionData[]> {
	if (response.statusCode < 400) return items;
	const problem = (response.body ?? {}) as IDataObject;
	const context = (problem.context ?? {}) as IDataObject;
	const where = [problem.code, context.reason, context.argument].filter((part) => part).join(', ');
	throw new NodeApiError(this.getNode(), problem as JsonObject, {
		httpCode: String(response.statusCode),
		message: String(problem.detail ?? problem.title ?? `HTTP ${response.statusCode}`),
		description: [advice[String(problem.code)], where && `(${where})`].filter((part) => part).join(' '),
		itemIndex: this.getItemIndex(),
	});
}

/** Lists items outside an execution. Every page has 50 items. */
export async function listItems(
	this: ILoadOptionsFunctions | IPollFunctions,
	url: string,
	member: string,
	query: IDataObject = {},
	maxPages = Infinity,
): Promise<IDataObject[]> {
	const credentials = await this.getCredentials<{ url: string }>('pressroomApi');
	const items: IDataObject[] = [];
	let cursor: string | undefined;
	for (let n = 0; n < maxPages; n++) {
		const { data, page } = (await this.helpers.httpRequestWithAuthentication.call(this, 'pressroomApi', {
			baseURL: `${credentials.url.replace(/\/+$/, '')}/api/v1`,
			url,
			qs: { ...query, limit: 50, ...(cursor && { cursor }) },
		})) as { data: Record<string, IDataObject[]>; page?: { has_more: boolean; cursor: string } };
		items.push(...(data[member] ?? []));
		if (!page?.has_more) break;
		cursor = page.cursor;
	}
	return items;
}

/** Returns the properties of an operation that lists items. Its pages are read with cursors. */
export function listOptions(resource: string, member: string): INodeProperties[] {
	const show = { resource: [resource], operation: ['getAll'] };
	return [
		{
			displayName: 'Return All',
			name: 'returnAll',
			type: 'boolean',
			default: false,
			description: 'Whether to return all results or only up to a given limit',
			displayOptions: { show },
			routing: {
				send: { paginate: '={{ $value }}' },
				operations: {
					pagination: {
						type: 'generic',
						properties: {
							continue: '={{ $response.body?.page?.has_more ?? false }}',
							request: { qs: { limit: 50, cursor: '={{ $response.body?.page?.cursor }}' } },
						},
					},
				},
				output: { postReceive: [{ type: 'rootProperty', properties: { property: `data.${member}` } }] },
			},
		},
		{
			displayName: 'Limit',
			name: 'limit',
			type: 'number',
			typeOptions: { minValue: 1, maxValue: 50 },
			default: 50,
			description: 'Max number of results to return',
			displayOptions: { show: { ...show, returnAll: [false] } },
			routing: { send: { type: 'query', property: 'limit' } },
		},
	];
}

export const onlyData = { postReceive: [{ type: 'rootProperty' as const, properties: { property: 'data' } }] };

/** Returns an optional field with the idempotency key of a write. */
export function keyField(resource: string, operations: string[], more: INodeProperties[] = []): INodeProperties {
	return {
		displayName: 'Additional Fields',
		name: 'additionalFields',
		type: 'collection',
		placeholder: 'Add Field',
		default: {},
		displayOptions: { show: { resource: [resource], operation: operations } },
		options: [
			...more,
			{
				displayName: 'Idempotency Key',
				name: 'idempotencyKey',
				type: 'string',
				default: '',
				description:
					'Repeating the operation with the same key within 24 hours does nothing. By default, each item of an execution has its own.',
			},
		],
	};
}
