// Names of slots and segments: `<decisions>/<slot>/<UTC time>-<number>.ndjson`, for example
// `w00/20261120T101112.123Z-000001.ndjson`. Names sort by time; the number decides the order within a slot, because it
// grows with each segment whatever the clock does.
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { errorCodeOf, isMissingFile } from '../lib/named-error.ts'
import { DecisionDirectoryMissingError } from './errors.ts'

/** Directory of the slot of a worker: `w00`. */
export const slotName = (slot: number): string => `w${String(slot).padStart(2, '0')}`

const SLOT = /^[a-z0-9][a-z0-9_-]{0,63}$/
const SEGMENT = /^(\d{8}T\d{6}\.\d{3}Z)-(\d{6,15})\.ndjson$/

/** Lower-case letters, digits, `-` and `_`, at most 64: one path element everywhere. */
export const isSlotName = (name: string): boolean => SLOT.test(name)

export interface SegmentName {
  readonly name: string
  /** `20261120T101112.123Z`: compares as text. */
  readonly stamp: string
  readonly number: number
}

export const parseSegmentName = (name: string): SegmentName | null => {
  const match = SEGMENT.exec(name)
  return match === null ? null : { name, stamp: match[1] as string, number: Number(match[2]) }
}

/** A time as segments' names have it. */
export const stampOf = (atMs: number): string => new Date(atMs).toISOString().replaceAll('-', '').replaceAll(':', '')

/**
 * The name for a new segment. When the clock stands behind the segment before it, the name repeats that one's time and
 * only the number grows, so that names keep sorting in the order of writing.
 */
export const nextSegmentName = (atMs: number, previous: SegmentName | null): SegmentName => {
  const now = stampOf(atMs)
  const stamp = previous !== null && previous.stamp > now ? previous.stamp : now
  const number = (previous?.number ?? 0) + 1
  return { name: `${stamp}-${String(number).padStart(6, '0')}.ndjson`, stamp, number }
}

/** The segments of a slot, oldest first; other files are passed over. Empty when the directory does not exist. */
export const listSegments = (slotDirectory: string): SegmentName[] => {
  let names: string[]
  try {
    names = readdirSync(slotDirectory)
  } catch (error) {
    if (isMissingFile(error)) return []
    throw error
  }
  return names
    .map(parseSegmentName)
    .filter((segment) => segment !== null)
    .sort((a, b) => a.number - b.number || (a.name < b.name ? -1 : 1))
}

/**
 * The slots of a log, in the order of their names.
 * @throws DecisionDirectoryMissingError
 */
export const listSlots = (directory: string): string[] => {
  try {
    return readdirSync(directory, { withFileTypes: true })
      .filter((entry) => entry.isDirectory() && isSlotName(entry.name))
      .map((entry) => entry.name)
      .sort()
  } catch (error) {
    if (isMissingFile(error) || errorCodeOf(error) === 'ENOTDIR') {
      throw new DecisionDirectoryMissingError(directory, error)
    }
    throw error
  }
}

export const segmentPath = (directory: string, slot: string, name: string): string => join(directory, slot, name)
