// The dashboard's cookie. Over https its name makes the browser refuse it from anywhere but this very host (`__Host-`);
// plain http is for loopback only, where that prefix is not allowed. Source: RFC 6265bis, sections 4.1.3 and 5.6.

export interface SessionCookie {
  /** The token a request carries; null for none, or for more than one. */
  read(headers: Headers): string | null
  set(token: string, lifeSeconds: number): string
  clear(): string
}

const TOKEN = /^[A-Za-z0-9_-]{43}$/

/** @param secure whether the dashboard is reached by https */
export const createSessionCookie = (secure: boolean): SessionCookie => {
  const name = secure ? '__Host-countersign' : 'countersign'
  const attributes = `; Path=/; HttpOnly; SameSite=Strict${secure ? '; Secure' : ''}`
  return {
    read: (headers) => {
      const found = (headers.get('cookie') ?? '')
        .split(';')
        .map((part) => part.trim())
        .filter((part) => part.startsWith(`${name}=`))
        .map((part) => part.slice(name.length + 1))
      const [token] = found
      return found.length === 1 && token !== undefined && TOKEN.test(token) ? token : null
    },
    set: (token, lifeSeconds) => `${name}=${token}; Max-Age=${lifeSeconds}${attributes}`,
    clear: () => `${name}=; Max-Age=0${attributes}`,
  }
}
