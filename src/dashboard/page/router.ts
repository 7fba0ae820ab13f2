// Links are ordinary links, so that the middle mouse button and `Open in new tab` work.
import { createContext } from 'preact'
import { useContext, useEffect, useRef, useState } from 'preact/hooks'

export interface Place {
  readonly path: string
  readonly search: string
}

export type Params = Readonly<Record<string, string>>

const here = (): Place => ({ path: location.pathname, search: location.search })
const MOVED = 'dashboard-moved'

/** Forms with edits that navigation would lose. */
const guards = new Set<symbol>()

/** Requires a confirmation before navigation until the returned function is called. */
export const guardLeaving = (): (() => void) => {
  const guard = Symbol('edits')
  guards.add(guard)
  return () => guards.delete(guard)
}

const mayLeave = (): boolean => guards.size === 0 || window.confirm('Discard unsaved changes?')

interface NavigateOptions {
  readonly replace?: boolean
  readonly isSaved?: boolean
}

export const navigate = (to: string, options: NavigateOptions = {}): void => {
  if (options.isSaved !== true && new URL(to, location.href).pathname !== location.pathname && !mayLeave()) return
  if (to !== location.pathname + location.search + location.hash) {
    history[options.replace === true ? 'replaceState' : 'pushState'](null, '', to)
  }
  window.dispatchEvent(new Event(MOVED))
}

export const usePlace = (): Place => {
  const [place, setPlace] = useState(here)
  const shown = useRef(place)
  shown.current = place
  useEffect(() => {
    const follow = (): void => setPlace(here())
    // The browser changes the URL before the confirmation is shown.
    const goBack = (): void => {
      const { path, search } = shown.current
      if (location.pathname === path || mayLeave()) follow()
      else history.pushState(null, '', path + search)
    }
    window.addEventListener('popstate', goBack)
    window.addEventListener(MOVED, follow)
    return () => {
      window.removeEventListener('popstate', goBack)
      window.removeEventListener(MOVED, follow)
    }
  }, [])
  return place
}

export const PlaceContext = createContext<Place>({ path: '/', search: '' })

/** Returns the filter or tab in the URL; empty if the URL has none. */
export const useSearchParam = (name: string): readonly [value: string, change: (value: string) => void] => {
  const { path, search } = useContext(PlaceContext)
  const value = new URLSearchParams(search).get(name) ?? ''
  const change = (next: string): void => {
    const parameters = new URLSearchParams(location.search)
    if (next === '') parameters.delete(name)
    else parameters.set(name, next)
    navigate(`${path}${parameters.size === 0 ? '' : `?${parameters}`}`, { replace: true })
  }
  return [value, change]
}

/** Matches a pattern such as `/o/{organization}/projects/{project}`. Returns null for other paths. */
export const matchPath = (pattern: string, path: string): Params | null => {
  const wanted = pattern.split('/')
  const given = path.replace(/(.)\/$/, '$1').split('/')
  if (wanted.length !== given.length) return null
  const params: Record<string, string> = {}
  for (const [index, part] of wanted.entries()) {
    const segment = given[index] ?? ''
    if (!part.startsWith('{')) {
      if (part !== segment) return null
      continue
    }
    if (segment === '') return null
    try {
      params[part.slice(1, -1)] = decodeURIComponent(segment)
    } catch {
      return null
    }
  }
  return params
}

export const pathFor = (pattern: string, params: Params): string =>
  pattern.replaceAll(/\{([^}]+)\}/g, (_match, name: string) => encodeURIComponent(params[name] ?? ''))

/** Handles clicks on links within the dashboard that open in the same tab. */
export const followLinks = (root: Document): (() => void) => {
  const follow = (event: MouseEvent): void => {
    if (event.defaultPrevented || event.button !== 0) return
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return
    const link = (event.target as Element | null)?.closest?.('a')
    if (link === null || link === undefined || link.target !== '' || link.hasAttribute('download')) return
    const href = link.getAttribute('href') ?? ''
    if (!href.startsWith('/') || href.startsWith('//') || /^\/(admin|docs)(\/|$)/.test(href)) return
    event.preventDefault()
    navigate(href)
  }
  root.addEventListener('click', follow)
  return () => root.removeEventListener('click', follow)
}
