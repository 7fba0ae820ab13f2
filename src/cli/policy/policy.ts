// `countersign policy` commands that aren't derived, because they work on documents or local files.
import { type Command, type CommandContext, flag, ORG, text } from '../../command-line/command.ts'
import { knownHere, REVISION_WORD, reportingMistakes } from '../../command-line/policy-context.ts'
import { apply, sync } from './policy-apply.ts'
import { check, create, schema, templates } from './policy-documents.ts'
import { serveLanguage } from './policy-language-server.ts'
import { diff, show } from './policy-revisions.ts'
import { test } from './policy-test.ts'

const runLanguageServer = ({ output, ...context }: CommandContext): Promise<number> =>
  serveLanguage({
    input: Bun.stdin.stream(),
    write: output.stdout,
    known: () => knownHere({ ...context, output }),
  })

const DOCUMENT_ORG = text(
  'org',
  'NAME',
  'Organization whose lists the documents can use. All documents can use the deployment’s screeners',
)

const FILE = { name: 'FILE', help: 'Policy document in YAML or JSON; - reads standard input' }

const DOCUMENT_COMMANDS: ReadonlyArray<Omit<Command, 'noun' | 'isLocal'>> = [
  {
    verb: 'check',
    summary: 'Check whether a document is valid and its tests pass',
    description: 'Reports each problem with its line and column. A document with warnings can be saved.',
    words: [FILE],
    options: [DOCUMENT_ORG],
    run: check,
  },
  {
    verb: 'test',
    summary: 'Run the tests of documents',
    words: [{ ...FILE, help: 'Policy document, or folder of documents', many: true }],
    options: [
      flag('coverage', 'Report rules and branches of conditions that no test reaches'),
      text('junit', 'REPORT', 'Write the results as JUnit XML to this file'),
    ],
    run: test,
  },
  { verb: 'templates', summary: 'List the templates', run: templates },
  {
    verb: 'new',
    summary: 'Print a template to edit',
    options: [text('template', 'NAME', 'Name of the template; see policy templates', { required: true })],
    run: create,
  },
  { verb: 'schema', summary: 'Print the JSON Schema of policy documents', run: schema },
  {
    verb: 'language-server',
    summary: 'Run a language server for editors on standard input and output',
    options: [DOCUMENT_ORG],
    run: runLanguageServer,
  },
]

const STORE_COMMANDS: ReadonlyArray<Omit<Command, 'noun'>> = [
  {
    verb: 'diff',
    summary: 'Show the differences between two revisions or files',
    words: [{ ...REVISION_WORD, many: true }],
    options: [
      text('policy', 'ID', 'Policy for revision numbers. A single reference is compared with its active revision'),
      ORG,
    ],
    run: diff,
  },
  {
    verb: 'apply',
    summary: 'Save a document as the next revision of a policy and activate it',
    description:
      'Uses the policy with the document’s name, or creates it. Activates a document that is already saved without saving it again. The revision is live within a second, without a restart.',
    words: [FILE],
    options: [
      text('policy', 'ID', 'Policy of the revision, for example to rename it'),
      flag('draft', 'Only save the revision'),
      ORG,
    ],
    run: apply,
  },
  {
    verb: 'sync',
    summary: 'Apply all documents of a folder, and report policies that the folder lacks',
    description:
      'Policies are matched by name, as in policy apply. Subfolders are ignored. No policy is removed. With --dry-run, exits with 1 if the deployment differs from the folder.',
    words: [{ name: 'FOLDER', help: 'Folder of .yaml, .yml and .json policy documents' }],
    options: [flag('dry-run', 'Only report the differences'), flag('draft', 'Only save the revisions'), ORG],
    run: sync,
  },
  {
    verb: 'show',
    summary: 'Print the active document of a policy',
    words: [{ name: 'POLICY', help: 'Policy ID' }],
    options: [text('revision', 'REVISION', 'Revision number or ID. Defaults to the active revision'), ORG],
    run: show,
  },
]

export const POLICY_COMMANDS: readonly Command[] = [
  ...DOCUMENT_COMMANDS.map((command): Omit<Command, 'noun'> => ({ ...command, isLocal: true })),
  ...STORE_COMMANDS,
].map((command) => ({
  ...command,
  noun: 'policy',
  run: reportingMistakes(async (context) => (await command.run(context)) ?? 0),
}))
