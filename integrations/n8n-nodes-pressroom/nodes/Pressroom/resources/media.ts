import type { INodeProperties } from 'n8n-workflow';
import { keyField, listOptions, onlyData } from '../shared';

const show = { resource: ['media'] };

export const mediaDescription: INodeProperties[] = [
	{
		displayName: 'Operation',
		name: 'operation',
		type: 'options',
		noDataExpression: true,
		displayOptions: { show },
		default: 'getAll',
		options: [
			{
				name: 'Get Many',
				value: 'getAll',
				action: 'Get many media',
				description: 'Get many images and videos of the library, newest first',
				routing: { request: { method: 'GET', url: '/media' } },
			},
			{
				name: 'Import',
				value: 'import',
				action: 'Import media',
				description: 'Import an image or video from a public address. Get the job until it has finished.',
				routing: { request: { method: 'POST', url: '/media/imports' }, output: onlyData },
			},
		],
	},
	{
		displayName: 'URL',
		name: 'url',
		type: 'string',
		required: true,
		default: '',
		placeholder: 'https://www.example.com/picture.jpg',
		description: 'Public HTTPS address of the file',
		displayOptions: { show: { ...show, operation: ['import'] } },
		routing: { send: { type: 'body', property: 'url' } },
	},
	...listOptions('media', 'media'),
	{
		displayName: 'Filters',
		name: 'filters',
		type: 'collection',
		placeholder: 'Add Filter',
		default: {},
		displayOptions: { show: { ...show, operation: ['getAll'] } },
		options: [
			{
				displayName: 'Kind',
				name: 'kind',
				type: 'options',
				default: 'image',
				options: [
					{ name: 'Image', value: 'image' },
					{ name: 'Video', value: 'video' },
				],
				routing: { send: { type: 'query', property: 'kind' } },
			},
			{
				displayName: 'Search',
				name: 'query',
				type: 'string',
				default: '',
				description: 'A part of the name',
				routing: { send: { type: 'query', property: 'query' } },
			},
		],
	},
	keyField('media', ['import'], [
		{
			displayName: 'File Name',
			name: 'fileName',
			type: 'string',
			default: '',
			description: 'Name for the file, without extension',
			routing: { send: { type: 'body', property: 'filename' } },
		},
	]),
];
