// Validates and normalizes URLs shown to people as links: absolute https URLs without credentials, with an ASCII host
// (threats row 16).

export const HTTPS_LINK_MAX = 2_048

/** Returns true if the URL parser would silently remove or change a character: controls, white space, backslashes. */
const isAltered = (character: number): boolean =>
  character <= 0x20 || character === 0x5c || (character >= 0x7f && character <= 0xa0) || character === 0xfeff

/** Returns the normalized URL; null for any other text. */
export const parseHttpsLink = (text: string): string | null => {
  if (text.length > HTTPS_LINK_MAX || text.slice(0, 8).toLowerCase() !== 'https://') return null
  for (let i = 0; i < text.length; i++) if (isAltered(text.charCodeAt(i))) return null
  // The parser would skip the additional slashes, but `https:///host` isn't a valid absolute URL.
  if (text[8] === '/') return null
  const url = URL.parse(text)
  if (url === null || url.protocol !== 'https:' || url.hostname === '') return null
  if (url.username !== '' || url.password !== '' || text.slice(8).split(/[/?#]/, 1)[0]?.includes('@')) return null
  return url.href.length > HTTPS_LINK_MAX ? null : url.href
}
