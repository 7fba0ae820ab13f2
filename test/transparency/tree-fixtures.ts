// A deployment's tree as its process makes it, in a folder: log, tables, head file, and a place that heads are shipped to.
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { openDecisionTree } from '../../src/modules/transparency/store/open.ts'
import { verifierKeyOf } from '../../src/modules/transparency/tree/note.ts'
import { createTreeMaker, type TreeMakerOptions } from '../../src/modules/transparency/worker/tree-maker.ts'
import { createFolderTarget } from '../../src/object-store/ship-folder.ts'
import { createEd25519Signer } from '../../src/signing/ed25519.ts'

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
  /** As the tree's process does, but for not going on before the head is shipped. */
  const pass = async (leads: boolean) => {
    const head = await maker.pass(leads)
    if (head !== null) await maker.ship(head)
    return head
  }
  return {
    maker: { ...maker, pass },
    passOnly: maker.pass,
    tree,
    directory,
    headFile,
    shipped: createFolderTarget(shipped),
  }
}
