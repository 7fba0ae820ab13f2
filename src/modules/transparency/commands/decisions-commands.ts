import { type Command, type CommandContext, text } from '../../../command-line/command.ts'
import {
  type DecisionsTable,
  decisionsCommands,
  PLACE,
  parsePlace,
  type RunDecisions,
} from '../../../command-line/decisions-commands.ts'
import { print } from '../../../command-line/output.ts'
import { locatePassphrase } from '../../../setup/passphrase.ts'
import { type BegunTree, beginTree as begin } from '../service/begin-tree.ts'
import type { TreeAccess } from '../service/tree-access.ts'
import { encodeVerifierKey } from '../tree/note.ts'
import { publishTree } from './decisions-publish.ts'
import { openTreeOf, runProve } from './decisions-tree.ts'

const ioOfDeployment = ({ deployment }: CommandContext) => {
  const { config, folder } = deployment
  return {
    dataDirectory: config.dataDir,
    openTarget: deployment.shipTarget,
    openTree: (): Promise<TreeAccess> => openTreeOf(deployment),
    beginTree: (): Promise<BegunTree> =>
      deployment.runAlone(async (store) =>
        begin({
          folder,
          store,
          target: await deployment.locateStore(),
          passphrase: locatePassphrase(config, folder, false),
          now: new Date(),
        }),
      ),
  }
}

export type TreeIo = ReturnType<typeof ioOfDeployment>

type Run = RunDecisions<TreeIo>

const prove: Run = async ({ command, output }, io, directory) =>
  runProve({
    uuid: (command.words[0] ?? '').toLowerCase(),
    directory,
    openTree: io.openTree,
    json: command.flag('json'),
    ...output,
  })

const publish: Run = async (context, io) => {
  const target = io.openTarget(parsePlace('to', context.command.required('to')))
  const access = await io.openTree()
  try {
    const size = await publishTree(access, target)
    print(context, { size }, `published a head of ${size} lines\n`)
    return 0
  } finally {
    await access.close()
  }
}

const beginTree: Run = async (context, io) => {
  if (!(await context.confirm())) return 1
  const { before, key, putAside } = await io.beginTree()
  const logKey = encodeVerifierKey(key)
  const kept = putAside === null ? '' : `; it is in ${putAside}`
  print(
    context,
    { before, log_key: logKey, kept: putAside },
    `ended the tree of ${before}${kept}\nnew log key: ${logKey}\n`,
  )
  return 0
}

const TABLE: DecisionsTable<TreeIo> = [
  {
    verb: 'prove',
    summary: 'Print the proof that a decision of this node is in the log',
    words: [{ name: 'UUID', help: 'UUID of the decision' }],
    run: prove,
  },
  {
    verb: 'publish',
    summary: 'Write the tree as static files (checkpoint and tile/…) without decisions',
    options: [text('to', 'PLACE', PLACE, { required: true })],
    run: publish,
  },
  {
    verb: 'begin-tree',
    asks: true,
    summary: 'Start a new tree with a new name and key; stop the service first',
    description:
      'Run this command after restoring an older backup. Verifiers need the new key for new proofs; proofs from the old tree remain valid.',
    run: beginTree,
  },
]

export const treeCommandsOver = (ioOf: (context: CommandContext) => TreeIo): readonly Command[] =>
  decisionsCommands(TABLE, ioOf)

export const TREE_COMMANDS = treeCommandsOver(ioOfDeployment)
