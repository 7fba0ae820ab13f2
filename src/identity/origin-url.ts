// `originUrl`: where the verification page offers the person to go back to. Shown as a link, so it is taken only as an
// absolute https address without credentials, and kept as the URL parser writes it, its host in ASCII (threats row 16).
import { FieldInvalidError } from '../domain/errors.ts'

/** Characters, as sent and as normalised (decisions §5). */
export const ORIGIN_URL_MAX = 2_048

const RULE = `must be an absolute https URL without credentials, of at most ${ORIGIN_URL_MAX} characters`

/** What the URL parser would silently drop or turn into something else: controls, white space, backslashes. */
const isAltered = (character: number): boolean =>
  character <= 0x20 || character === 0x5c || (character >= 0x7f && character <= 0xa0) || character === 0xfeff

/** The normalised URL. @throws FieldInvalidError */
export const decodeOriginUrl = (text: string): string => {
  const refuse = (): never => {
    throw new FieldInvalidError('originUrl', RULE)
  }
  if (text.length > ORIGIN_URL_MAX || text.slice(0, 8).toLowerCase() !== 'https://') return refuse()
  for (let i = 0; i < text.length; i++) if (isAltered(text.charCodeAt(i))) return refuse()
  // The parser would skip further slashes: `https:///host` is no absolute URL of that host to anyone who reads it.
  if (text[8] === '/') return refuse()
  const url = URL.parse(text)
  if (url === null || url.protocol !== 'https:' || url.hostname === '') return refuse()
  if (url.username !== '' || url.password !== '' || text.slice(8).split(/[/?#]/, 1)[0]?.includes('@')) return refuse()
  return url.href.length > ORIGIN_URL_MAX ? refuse() : url.href
}
