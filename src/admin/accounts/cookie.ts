// Dashboard cookies. Over https, their `__Host-` prefix limits them to this host (RFC 6265bis).

export interface Cookie {
  /** Returns null if the request has no such cookie, several, or a malformed value. */
  read(headers: Headers): string | null
  set(value: string, lifeSeconds: number): string
  clear(): string
}

export interface Cookies {
  readonly session: Cookie
  readonly device: Cookie
}

const createCookie = (plainName: string, pattern: RegExp, secure: boolean): Cookie => {
  const name = secure ? `__Host-${plainName}` : plainName
  const attributes = `; Path=/; HttpOnly; SameSite=Strict${secure ? '; Secure' : ''}`
  return {
    read: (headers) => {
      const found = (headers.get('cookie') ?? '')
        .split(';')
        .map((part) => part.trim())
        .filter((part) => part.startsWith(`${name}=`))
        .map((part) => part.slice(name.length + 1))
      const [value] = found
      return found.length === 1 && value !== undefined && pattern.test(value) ? value : null
    },
    set: (value, lifeSeconds) => `${name}=${value}; Max-Age=${lifeSeconds}${attributes}`,
    clear: () => `${name}=; Max-Age=0${attributes}`,
  }
}

export const createCookies = (secure: boolean): Cookies => ({
  session: createCookie('countersign', /^[A-Za-z0-9_-]{43}$/, secure),
  device: createCookie('countersign-device', /^[A-Za-z0-9_.-]{1,120}$/, secure),
})
