// Verifies the log against its tree. An attacker can recompute a hash chain, but not a tree with signed heads
// elsewhere.
import type { TreeReport } from '../../../decision-log/tree-report.ts'
import type { DecisionTreeReader } from '../store/reader.ts'
import { NO_HEAD, type TreeSegment, type TreeSpan } from '../store/types.ts'
import type { VerifierKey } from '../tree/note.ts'
import { readRoot, TileTooShortError } from '../tree/prove.ts'
import { createLogComparison, type Findings, linesOf, type TakenPlace } from './compare-log.ts'
import { createLeafCover } from './leaf-cover.ts'
import { rootOfLeaves } from './stored-leaves.ts'
import { headProblem } from './tree-heads.ts'

export interface KeptHead {
  readonly where: string
  readonly checkpoint: string
}

export interface VerifyTreeOptions {
  readonly tree: Pick<DecisionTreeReader, 'readTiles' | 'head' | 'segments' | 'spans'>
  readonly key: VerifierKey
  readonly saltKey: Uint8Array
  readonly heads: readonly KeptHead[]
  /** Logs by node; the node is null for the only log, to which all segments of the tree belong. */
  readonly logs: readonly { readonly node: string | null; readonly directory: string }[]
  /** Whether the logs are copies, which may lack the latest lines. */
  readonly mayBeBehind: boolean
  /** Missing segments may have been archived if the headers of present segments show that they are older. */
  readonly archivedBefore: string | null
  readonly onChunk?: (bytes: number) => void
}

type ReadSpans = (place: TreeSegment) => Promise<readonly TreeSpan[]>

const same = (one: Uint8Array, other: Uint8Array): boolean => Buffer.compare(one, other) === 0

/** Returns problems. @throws DecisionDirectoryMissingError; errors from reading the tables */
export const verifyTree = async (options: VerifyTreeOptions): Promise<TreeReport> => {
  const { tree, key, saltKey, heads, logs, mayBeBehind, archivedBefore, onChunk = () => undefined } = options
  const found: Findings = { compared: 0, newer: 0, elsewhere: 0, problems: [], warnings: [] }
  const { problems, warnings } = found
  const head = (await tree.head()) ?? NO_HEAD

  const checkHeads = async (): Promise<void> => {
    const own = head.checkpoint === '' ? [] : [{ where: 'the tree’s own head', checkpoint: head.checkpoint }]
    for (const { where, checkpoint } of [...own, ...heads]) {
      const problem = await headProblem(checkpoint, key, head, tree.readTiles)
      if (problem !== null) problems.push(`${where}: ${problem}`)
    }
  }

  const checkTiles = async (): Promise<void> => {
    if (!same(await rootOfLeaves(tree.readTiles, head.size), head.root)) {
      problems.push('the tree’s leaves do not match its root: the leaves in the database were changed')
    } else if (head.size > 0 && !same(await readRoot(tree.readTiles, head.size), head.root)) {
      problems.push('the upper tiles of the tree do not match its leaves: the tiles in the database were changed')
    }
  }

  const countOthers = async (places: readonly TakenPlace[], readSpans: ReadSpans): Promise<void> => {
    for (const [node, of] of Map.groupBy(places, ({ node }) => node)) {
      let lines = 0
      for (const place of of) lines += linesOf(await readSpans(place))
      if (lines === 0) continue
      if (mayBeBehind && lines === of.length) {
        warnings.push(
          `node ${node}: only headers of its files are in the tree; they are copied with the first decision`,
        )
      } else if (mayBeBehind) {
        problems.push(`node ${node}: all its files are missing, but the tree contains ${lines} of its lines`)
      } else {
        found.elsewhere += lines
        warnings.push(`node ${node}: ${lines} lines were not compared: verify the copies of all nodes with --from`)
      }
    }
  }

  const compareLogs = async (): Promise<void> => {
    const cover = createLeafCover(head.size)
    const readSpans: ReadSpans = async (place) => {
      const spans = await tree.spans(place)
      cover.add(spans)
      return spans
    }
    const compareLog = createLogComparison({
      readTiles: tree.readTiles,
      readSpans,
      firstSpan: async (place) => (await tree.spans(place))[0] ?? null,
      saltKey,
      found,
      mayBeBehind,
      archivedBefore,
      namesNodes: logs.length > 1,
      onChunk,
    })
    const places = await tree.segments()
    for (const { node, directory } of logs) {
      const own = node === null ? places : places.filter((place) => place.node === node)
      if (!mayBeBehind && own.length === 0 && places.length > 0) {
        problems.push(
          `the tree contains no lines of this node (${node === '' ? 'its log has no node-name' : node}), only of other nodes: if it has made decisions, its node-name was changed or removed`,
        )
      }
      await compareLog(directory, own)
    }
    const looked = new Set(logs.map(({ node }) => node))
    if (!looked.has(null))
      await countOthers(
        places.filter(({ node }) => !looked.has(node)),
        readSpans,
      )
    const gap = cover.problem()
    if (gap !== null) problems.push(gap)
  }

  try {
    await checkHeads()
    await checkTiles()
    await compareLogs()
  } catch (error) {
    if (!(error instanceof TileTooShortError)) throw error
    problems.push('hashes are missing from the tables of the tree')
  }
  return { ok: problems.length === 0, size: head.size, ...found }
}
