// Detects the type of an image from its first bytes. SVG is refused, because it can contain scripts.

export type LogoType = 'image/png' | 'image/jpeg' | 'image/webp'

/** Maximum size, which is small because every visitor of the verification page loads the logo. */
export const LOGO_BYTES_MAX = 262_144

const startsWith = (bytes: Uint8Array, at: number, ...wanted: readonly number[]): boolean =>
  wanted.every((byte, index) => bytes[at + index] === byte)

export const logoTypeOf = (bytes: Uint8Array): LogoType | null => {
  if (startsWith(bytes, 0, 0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a)) return 'image/png'
  if (startsWith(bytes, 0, 0xff, 0xd8, 0xff)) return 'image/jpeg'
  const riff = startsWith(bytes, 0, 0x52, 0x49, 0x46, 0x46) && startsWith(bytes, 8, 0x57, 0x45, 0x42, 0x50)
  return riff ? 'image/webp' : null
}
