// Finds decisions of all nodes with the shared index. Lines of other nodes are read from their shipped logs.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type ProvenLine, readPlaces, readProven } from '../../src/decision-log/located.ts'
import { hashLine } from '../../src/decision-log/record.ts'
import { bringLines, type Surroundings } from '../../src/decision-log/shipped-lines.ts'
import type { ShipTarget } from '../../src/object-store/ship-target.ts'
import type { NodePlace, SharedIndexReader } from '../../src/store/decision-index/shared-reader.ts'
import type { DecisionFilter, DecisionPosition } from '../../src/store/decision-index/types.ts'
import { type FoundDecisions, foundOf, recordOf } from './decision-finder.ts'

export interface SharedDecisionFinderOptions {
  readonly directory: string
  readonly node: string
  readonly reader: SharedIndexReader
  /** Destination of shipped logs. If null, lines of other nodes are not shown. */
  readonly shipped: ShipTarget | null
  readonly pieceBytes?: number
}

export const createSharedDecisionFinder = (options: SharedDecisionFinderOptions) => {
  const { directory, node, reader, shipped, pieceBytes } = options

  /** Calls `use` with a folder that contains these lines. Null if the log is unavailable. */
  const withLines = async <Result>(
    of: string,
    places: readonly NodePlace[],
    surroundings: Surroundings,
    use: (folder: string) => Result,
  ): Promise<Result | null> => {
    if (of === node) return use(directory)
    if (shipped === null) return null
    const scratch = await mkdtemp(join(tmpdir(), 'countersign-lines-'))
    try {
      await bringLines(shipped, of, places, surroundings, scratch, pieceBytes)
      return use(scratch)
    } finally {
      await rm(scratch, { recursive: true, force: true })
    }
  }

  const isIndexed = (line: string, { lineHash }: NodePlace): boolean =>
    hashLine(line) === Buffer.from(lineHash).toString('hex')

  /** Returns null for a missing line, and for a copy that differs from the line that its node indexed. */
  const readLines = (folder: string, places: readonly NodePlace[]): readonly (string | null)[] => {
    const lines = readPlaces(folder, places)
    return places.map((place, position) => {
      const line = lines[position] ?? null
      return line !== null && (place.node === node || isIndexed(line, place)) ? line : null
    })
  }

  const readTexts = async (places: readonly NodePlace[]): Promise<readonly (string | null)[]> => {
    const texts = new Map<NodePlace, string | null>()
    for (const [of, own] of Map.groupBy(places, (place) => place.node)) {
      const found = await withLines(of, own, 'none', (folder) => readLines(folder, own))
      for (const [position, place] of own.entries()) texts.set(place, found?.[position] ?? null)
    }
    return places.map((place) => texts.get(place) ?? null)
  }

  return {
    /** `complete` is false if a line is missing, because its node has not shipped it yet or its copy was changed. */
    search: async (filter: DecisionFilter, after: DecisionPosition | null, limit: number): Promise<FoundDecisions> => {
      const { places, next } = await reader.find(filter, after, limit)
      const found = foundOf(places, await readTexts(places), filter)
      return { ...found, next, complete: found.missing === 0 }
    },
    find: async (
      organizationId: string,
      uuid: string,
    ): Promise<(ProvenLine & { readonly withheld: boolean }) | null> => {
      for (const place of await reader.findByUuid(uuid)) {
        const proven = await withLines(place.node, [place], 'neighbors', (folder) => {
          const record = recordOf(readLines(folder, [place])[0] ?? null)
          return record?.uuid === uuid && record.organization === organizationId ? readProven(folder, place) : null
        })
        if (proven === null) continue
        const slot = place.node === node ? place.slot : `${place.node}/${place.slot}`
        return { ...proven, proof: { ...proven.proof, slot }, withheld: place.withheld }
      }
      return null
    },
    count: reader.count,
    tally: reader.tally,
  }
}
