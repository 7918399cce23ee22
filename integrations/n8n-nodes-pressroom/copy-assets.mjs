// Copies the icons and the descriptions of nodes beside the compiled files.
import { cpSync, readdirSync } from 'node:fs';

cpSync('icons', 'dist/icons', { recursive: true });
for (const node of readdirSync('nodes')) {
	cpSync(`nodes/${node}/${node}.node.json`, `dist/nodes/${node}/${node}.node.json`);
}
