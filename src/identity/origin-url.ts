// Reads `originUrl`, the address to which the verification page links the person back. Because it is shown as a link,
// it must be an absolute https URL without credentials, and it is stored as the URL parser writes it, with its host in
// ASCII (threats row 16).
import { FieldInvalidError } from '../domain/errors.ts'

/** Maximum characters, as sent and as normalised (decisions §5). */
export const ORIGIN_URL_MAX = 2_048

const RULE = `must be an absolute https URL without credentials, of at most ${ORIGIN_URL_MAX} characters`

/** Characters that the URL parser would silently drop or change: controls, white space, backslashes. */
const isAltered = (character: number): boolean =>
  character <= 0x20 || character === 0x5c || (character >= 0x7f && character <= 0xa0) || character === 0xfeff

/** The normalised URL. @throws FieldInvalidError */
export const decodeOriginUrl = (text: string): string => {
  const refuse = (): never => {
    throw new FieldInvalidError('originUrl', RULE)
  }
  if (text.length > ORIGIN_URL_MAX || text.slice(0, 8).toLowerCase() !== 'https://') return refuse()
  for (let i = 0; i < text.length; i++) if (isAltered(text.charCodeAt(i))) return refuse()
  // The parser would skip further slashes, but to a reader `https:///host` is not an absolute URL of that host.
  if (text[8] === '/') return refuse()
  const url = URL.parse(text)
  if (url === null || url.protocol !== 'https:' || url.hostname === '') return refuse()
  if (url.username !== '' || url.password !== '' || text.slice(8).split(/[/?#]/, 1)[0]?.includes('@')) return refuse()
  return url.href.length > ORIGIN_URL_MAX ? refuse() : url.href
}
