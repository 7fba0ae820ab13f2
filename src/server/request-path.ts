// Bun copies the Host header into `request.url` unchecked, and `new URL` throws for some Hosts, such as `[`.

/** Returns the path as sent: neither decoded nor normalized. */
export const requestPath = (url: string): string => {
  const authority = url.startsWith('/') ? -1 : url.indexOf('://')
  const start = authority === -1 ? 0 : url.indexOf('/', authority + 3)
  if (start === -1) return '/'
  const path = url.slice(start)
  const end = path.search(/[?#]/)
  return end === -1 ? path : path.slice(0, end)
}

export const requestQuery = (url: string): URLSearchParams => {
  const [beforeFragment = ''] = url.split('#', 1)
  const start = beforeFragment.indexOf('?')
  return new URLSearchParams(start === -1 ? '' : beforeFragment.slice(start + 1))
}
