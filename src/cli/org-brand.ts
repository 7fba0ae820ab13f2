// `countersign org brand`: how an organization looks to people on the verification page. The picture is checked here, so
// that nothing is ever served as one that is none.
import { readFileSync, statSync } from 'node:fs'
import { LOGO_BYTES_MAX, logoTypeOf } from '../domain/logo-type.ts'
import type { BrandChange, Logo } from '../store/organization-brands.ts'
import { CommandFailedError, UsageError } from './output.ts'

const readLogo = (path: string): Logo => {
  let bytes: Uint8Array
  try {
    if (statSync(path).size > LOGO_BYTES_MAX) throw new CommandFailedError('the logo is larger than 256 KiB')
    bytes = new Uint8Array(readFileSync(path))
  } catch (error) {
    if (error instanceof CommandFailedError) throw error
    throw new CommandFailedError(`the logo can't be read: ${path}`)
  }
  const type = logoTypeOf(bytes)
  if (type === null) throw new CommandFailedError('the logo must be a PNG, JPEG or WebP picture')
  return { type, bytes }
}

const readColor = (text: string): string => {
  const color = text.toLowerCase()
  if (!/^#[0-9a-f]{6}$/.test(color)) throw new UsageError('--color must be # and six hex digits, or none')
  return color
}

/** @throws UsageError, CommandFailedError */
export const readBrand = (input: {
  readonly color: string | undefined
  readonly logo: string | undefined
}): BrandChange => {
  const { color, logo } = input
  if (color === undefined && logo === undefined) throw new UsageError('give --color, --logo or both')
  return {
    ...(color === undefined ? {} : { color: color === 'none' ? null : readColor(color) }),
    ...(logo === undefined ? {} : { logo: logo === 'none' ? null : readLogo(logo) }),
  }
}
