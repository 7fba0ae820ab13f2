// 32-bit FNV-1a.

export const HASH_START = 0x811c9dc5
export const hashWith = (hash: number, code: number): number => Math.imul(hash ^ code, 0x01000193)

export const hashOf = (text: string): number => {
  let hash = HASH_START
  for (let at = 0; at < text.length; at++) hash = hashWith(hash, text.charCodeAt(at))
  return hash >>> 0
}
