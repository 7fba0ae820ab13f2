// Tiles of 256 adjacent hashes of one level, so that proofs need few reads. Source: https://c2sp.org/tlog-tiles.
import { HASH_BYTES } from './hash.ts'

export const TILE_HEIGHT = 8
export const TILE_WIDTH = 256
export const TILE_BYTES = TILE_WIDTH * HASH_BYTES

export interface TileName {
  /** 0: leaves. Higher levels: roots of full tiles below. */
  readonly level: number
  /** Number within the level, starting at 0. */
  readonly number: number
}

export interface Tile extends TileName {
  /** 256 concatenated hashes, or fewer in the last tile of a level. */
  readonly hashes: Uint8Array
}

/** Returns the number of hashes in a level of a tree. */
export const levelWidth = (level: number, size: number): number => Math.floor(size / TILE_WIDTH ** level)

/** Returns a path such as `tile/0/x001/x234/067`, with `.p/<width>` for an incomplete tile. */
export const tilePath = ({ level, number }: TileName, width = TILE_WIDTH): string => {
  const groups = [String(number % 1000).padStart(3, '0')]
  for (let rest = Math.floor(number / 1000); rest > 0; rest = Math.floor(rest / 1000)) {
    groups.unshift(`x${String(rest % 1000).padStart(3, '0')}`)
  }
  return `tile/${level}/${groups.join('/')}${width === TILE_WIDTH ? '' : `.p/${width}`}`
}

export const parseTilePath = (path: string): (TileName & { readonly width: number }) | null => {
  const match = /^tile\/(0|[1-9]\d?)\/((?:x\d{3}\/){0,4}\d{3})(?:\.p\/([1-9]\d{0,2}))?$/.exec(path)
  if (match === null) return null
  const level = Number(match[1])
  const number = Number((match[2] ?? '').replaceAll(/[x/]/g, ''))
  const width = match[3] === undefined ? TILE_WIDTH : Number(match[3])
  return level <= 63 && tilePath({ level, number }, width) === path ? { level, number, width } : null
}
