// An address that people are led to by a link: an absolute https URL without credentials, as the URL parser writes it, with
// its host in ASCII (threats row 16).

/** Maximum characters, as given and as normalised. */
export const HTTPS_LINK_MAX = 2_048

/** Characters that the URL parser would silently drop or change: controls, white space, backslashes. */
const isAltered = (character: number): boolean =>
  character <= 0x20 || character === 0x5c || (character >= 0x7f && character <= 0xa0) || character === 0xfeff

/** @returns the normalised URL; null for any other text */
export const parseHttpsLink = (text: string): string | null => {
  if (text.length > HTTPS_LINK_MAX || text.slice(0, 8).toLowerCase() !== 'https://') return null
  for (let i = 0; i < text.length; i++) if (isAltered(text.charCodeAt(i))) return null
  // The parser would skip further slashes, but to a reader `https:///host` is not an absolute URL of that host.
  if (text[8] === '/') return null
  const url = URL.parse(text)
  if (url === null || url.protocol !== 'https:' || url.hostname === '') return null
  if (url.username !== '' || url.password !== '' || text.slice(8).split(/[/?#]/, 1)[0]?.includes('@')) return null
  return url.href.length > HTTPS_LINK_MAX ? null : url.href
}
