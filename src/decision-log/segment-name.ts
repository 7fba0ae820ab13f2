// Names of slots and segments: `<decisions>/<slot>/<UTC time>-<number>.ndjson`, for example
// `w00/20261120T101112.123Z-000001.ndjson`. Names sort by time; the number gives the order, regardless of the clock.
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { errorCodeOf, isMissingFile } from '../lib/named-error.ts'
import { DecisionDirectoryMissingError } from './errors.ts'

export const slotName = (slot: number): string => `w${String(slot).padStart(2, '0')}`

const SLOT = /^[a-z0-9][a-z0-9_-]{0,63}$/
const SEGMENT = /^(\d{8}T\d{6}\.\d{3}Z)-(\d{6,15})\.ndjson$/

/** Returns whether the name has 1 to 64 lowercase letters, digits, `-` and `_`: one path element on any system. */
export const isSlotName = (name: string): boolean => SLOT.test(name)

export interface SegmentName {
  readonly name: string
  /** Time such as `20261120T101112.123Z`, comparable as text. */
  readonly stamp: string
  readonly number: number
}

export const parseSegmentName = (name: string): SegmentName | null => {
  const match = SEGMENT.exec(name)
  return match === null ? null : { name, stamp: match[1] as string, number: Number(match[2]) }
}

export const stampOf = (atMs: number): string => new Date(atMs).toISOString().replaceAll('-', '').replaceAll(':', '')

/** If `atMs` is before the previous segment's time, the name repeats that time, so that names stay in order. */
export const nextSegmentName = (atMs: number, previous: SegmentName | null): SegmentName => {
  const now = stampOf(atMs)
  const stamp = previous !== null && previous.stamp > now ? previous.stamp : now
  const number = (previous?.number ?? 0) + 1
  return { name: `${stamp}-${String(number).padStart(6, '0')}.ndjson`, stamp, number }
}

/** Returns the segments, oldest first, without other files. Empty if the directory doesn't exist. */
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

/** Returns the names of the slots, sorted. @throws DecisionDirectoryMissingError */
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
