// Single keys and pairs (`g p`), disabled by preference (WCAG 2.2, success criterion 2.1.4), while the user types, and
// while a dialog is open. Registered before the browser paints, so that a quick key press isn't lost.
import { useLayoutEffect, useRef } from 'preact/hooks'
import { shortcutsEnabled } from './preferences.ts'

export interface Shortcut {
  /** One key, or two in sequence: `?`, `g p`. */
  readonly keys: string
  readonly label: string
  readonly group: 'Go to' | 'Everywhere' | 'This page'
  readonly run: () => void
}

/** Returns the label of a key with the platform's command key. */
const withCommandKey = (key: string): string =>
  typeof navigator !== 'undefined' && /mac|iphone|ipad/i.test(navigator.platform) ? `⌘${key}` : `Ctrl ${key}`
export const FIND_KEYS = withCommandKey('K')
export const SAVE_KEYS = withCommandKey('S')

const PAIR_MS = 1_500
const registered = new Set<Shortcut>()

export const listShortcuts = (): readonly Shortcut[] => [...registered]

/** Registers a shortcut while the action isn't null. If several have the same keys, the newest applies. */
export const useShortcut = (
  keys: string,
  label: string,
  run: (() => void) | null,
  group: Shortcut['group'] = 'This page',
): void => {
  const latest = useRef(run)
  latest.current = run
  const isOff = run === null
  useLayoutEffect(() => {
    if (isOff) return
    const shortcut: Shortcut = { keys, label, group, run: () => latest.current?.() }
    registered.add(shortcut)
    return () => {
      registered.delete(shortcut)
    }
  }, [keys, label, group, isOff])
}

export const useShortcuts = (shortcuts: readonly Shortcut[]): void => {
  const key = shortcuts.map(({ keys }) => keys).join()
  const latest = useRef(shortcuts)
  latest.current = shortcuts
  // `key` changes when the list of shortcuts changes.
  useLayoutEffect(() => {
    const own = latest.current.map((shortcut, index) => ({ ...shortcut, run: () => latest.current[index]?.run() }))
    for (const shortcut of own) registered.add(shortcut)
    return () => {
      for (const shortcut of own) registered.delete(shortcut)
    }
  }, [key])
}

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName)) &&
  !(target instanceof HTMLInputElement && /^(checkbox|radio|button)$/.test(target.type))

const find = (keys: string): Shortcut | undefined => [...registered].reverse().find((each) => each.keys === keys)

/** Moves the focus between rows, on any page. */
const moveRow = (step: 1 | -1): void => {
  const rows = [...document.querySelectorAll<HTMLElement>('[data-row]')]
  if (rows.length === 0) return
  const at = rows.indexOf(document.activeElement as HTMLElement)
  const next = at === -1 ? (step === 1 ? 0 : rows.length - 1) : Math.min(Math.max(at + step, 0), rows.length - 1)
  rows[next]?.focus()
}

export const listenForShortcuts = (): (() => void) => {
  let first = ''
  let firstMs = 0
  const press = (event: KeyboardEvent): void => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.repeat) return
    if (!shortcutsEnabled() || isTyping(event.target) || document.querySelector('dialog[open]') !== null) return
    const { key } = event
    if (key.length !== 1) return
    const pair = first !== '' && event.timeStamp - firstMs < PAIR_MS ? find(`${first} ${key}`) : undefined
    const found = pair ?? find(key)
    first = key
    firstMs = event.timeStamp
    if (found !== undefined) {
      event.preventDefault()
      first = ''
      found.run()
    } else if (key === 'j' || key === 'k') {
      event.preventDefault()
      moveRow(key === 'j' ? 1 : -1)
    }
  }
  document.addEventListener('keydown', press)
  return () => document.removeEventListener('keydown', press)
}
