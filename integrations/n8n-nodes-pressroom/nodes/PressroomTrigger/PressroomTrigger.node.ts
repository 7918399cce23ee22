import type { IDataObject, INodeExecutionData, INodeType, INodeTypeDescription, IPollFunctions, JsonObject } from 'n8n-workflow';
import { NodeApiError, NodeConnectionTypes } from 'n8n-workflow';
import { listItems } from '../Pressroom/shared';

interface Post extends IDataObject {
	id: string;
	status: string;
}

/** What the trigger remembers between polls. */
interface State extends IDataObject {
	events?: string[]; // of the last poll
	seen?: Record<string, string>; // the status of posts
}

const maxPages = 20; // of 50 posts
const maxSeen = 10_000; // posts, more than one poll can list
const days = 7; // that published posts are looked up

/** Lists the posts of the last days by their time, and the newest ones, because a post that failed has no time unless it was scheduled. */
async function recentPosts(this: IPollFunctions, status: string): Promise<Post[]> {
	const from = new Date(Date.now() - days * 24 * 60 * 60 * 1000).toISOString();
	const timed = await listItems.call(this, '/posts', 'posts', { status, from }, maxPages);
	const newest = await listItems.call(this, '/posts', 'posts', { status }, 2);
	return [...new Map(([...timed, ...newest] as Post[]).map((post) => [post.id, post])).values()];
}

export class PressroomTrigger implements INodeType {
	description: INodeTypeDescription = {
		displayName: 'pressroom Trigger',
		name: 'pressroomTrigger',
		icon: { light: 'file:../../icons/pressroom.svg', dark: 'file:../../icons/pressroom.dark.svg' },
		group: ['trigger'],
		version: 1,
		subtitle: '={{$parameter["events"].join(", ")}}',
		description: 'Start a workflow when a post is published or fails',
		defaults: { name: 'pressroom Trigger' },
		polling: true,
		inputs: [],
		outputs: [NodeConnectionTypes.Main],
		credentials: [{ name: 'pressroomApi', required: true }],
		properties: [
			{
				displayName: 'Events',
				name: 'events',
				type: 'multiOptions',
				required: true,
				default: ['published'],
				options: [
					{ name: 'Post Failed', value: 'failed' },
					{ name: 'Post Partially Published', value: 'partially_published' },
					{ name: 'Post Published', value: 'published' },
				],
			},
		],
	};

	/** Returns the posts that got one of the statuses since the last poll. The first poll of an event only remembers the posts that exist. */
	async poll(this: IPollFunctions): Promise<INodeExecutionData[][] | null> {
		const events = this.getNodeParameter('events', []) as string[];
		const manual = this.getMode() === 'manual';
		const state = this.getWorkflowStaticData('node') as State;
		let posts: Post[];
		try {
			posts = (await Promise.all(events.map((status) => recentPosts.call(this, status)))).flat();
		} catch (error) {
			throw new NodeApiError(this.getNode(), error as JsonObject);
		}
		if (manual) return posts.length > 0 ? [this.helpers.returnJsonArray(posts.slice(0, 1))] : null;
		const { seen = {}, events: known = [] } = state;
		const changed = posts.filter((post) => known.includes(post.status) && seen[post.id] !== post.status);
		for (const post of posts) {
			delete seen[post.id]; // so that it becomes the last one
			seen[post.id] = post.status;
		}
		state.events = events;
		state.seen = Object.fromEntries(Object.entries(seen).slice(-maxSeen));
		return changed.length > 0 ? [this.helpers.returnJsonArray(changed)] : null;
	}
}
