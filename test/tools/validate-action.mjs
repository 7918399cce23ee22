// Validates the metadata of a GitHub action with GitHub's own parser and schema.
import { readFileSync } from 'node:fs';
import { register } from 'node:module';

// The parser imports its JSON schemas without an import attribute, like bundlers.
const hook = `import { readFile } from 'node:fs/promises';
  export async function load(url, context, next) {
    if (!url.endsWith('.json')) return next(url, context);
    return { format: 'module', source: 'export default ' + await readFile(new URL(url), 'utf8'), shortCircuit: true };
  }`;
register('data:text/javascript,' + encodeURIComponent(hook), import.meta.url);
const { parseAction } = await import('@actions/workflow-parser/actions/index');
const { NoOperationTraceWriter } = await import('@actions/workflow-parser');

const file = process.argv[2];
const { context } = parseAction({ name: file, content: readFileSync(file, 'utf8') }, new NoOperationTraceWriter());
for (const error of context.errors.getErrors()) {
  console.error(error.message);
  process.exitCode = 1;
}
