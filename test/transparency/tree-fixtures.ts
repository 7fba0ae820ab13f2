// The tree of a deployment in a folder: log, tables, head file, and a target for shipped heads.
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { openDecisionTree } from '../../src/modules/transparency/store/open.ts'
import { verifierKeyOf } from '../../src/modules/transparency/tree/note.ts'
import { createTreeMaker, type TreeMakerOptions } from '../../src/modules/transparency/worker/tree-maker.ts'
import { createFolderTarget } from '../../src/object-store/ship-folder.ts'
import { createEd25519Signer } from '../../src/signing/ed25519.ts'
import { attestations, openTestSegment } from '../decision-log/fixtures.ts'

const { publicKey, sign } = createEd25519Signer(Buffer.alloc(32, 6))
export const TEST_SIGNER = { key: verifierKeyOf('countersign/test', 'ed25519', publicKey), sign }
export const TEST_SALT_KEY = Buffer.alloc(32, 4)
export const TEST_NODE = 'web-1'

export const placesIn = (root: string) => ({
  directory: join(root, 'decisions'),
  treeFile: join(root, 'decision-tree.db'),
  headFile: join(root, 'decision-tree.checkpoint'),
  shipped: join(root, 'shipped'),
})

/** Appends records one by one to the log. */
export const appendTo = (root: string, first: number, count: number, slot = 'w00', maxBytes = 20_000): void => {
  const writer = openTestSegment(placesIn(root).directory, { slot, maxBytes })
  for (const record of attestations(first, first + count)) writer.append([record])
  writer.close()
}

export const createTestMaker = async (root: string, changes: Partial<TreeMakerOptions> = {}) => {
  const { directory, treeFile, headFile, shipped } = placesIn(root)
  mkdirSync(directory, { recursive: true })
  const tree = await openDecisionTree({ kind: 'sqlite', path: treeFile }, TEST_NODE)
  const maker = createTreeMaker({
    directory,
    tree,
    saltKey: TEST_SALT_KEY,
    signer: async () => TEST_SIGNER,
    key: TEST_SIGNER.key,
    headFile,
    knownHeads: [],
    ship: { target: createFolderTarget(shipped), intervalMs: 0 },
    flush: true,
    monotonicMs: () => performance.now(),
    ...changes,
  })
  /** A pass that ends when the head is shipped. */
  const pass = async (leads: boolean) => {
    const head = await maker.pass(leads)
    if (head !== null) await maker.ship(head)
    return head
  }
  const target = createFolderTarget(shipped)
  return { maker: { ...maker, pass }, passOnly: maker.pass, tree, directory, headFile, shipped: target }
}
