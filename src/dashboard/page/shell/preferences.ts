// Preferences in this browser. If storage is blocked, they last until the page is closed.

export type Theme = 'system' | 'light' | 'dark'

const read = (name: string): string | null => {
  try {
    return localStorage.getItem(`dashboard-${name}`)
  } catch {
    return null
  }
}

const write = (name: string, value: string): void => {
  try {
    localStorage.setItem(`dashboard-${name}`, value)
  } catch {
    // The preference isn't stored, so the default applies next time.
  }
}

export const storedTheme = (): Theme => {
  const theme = read('theme')
  return theme === 'light' || theme === 'dark' ? theme : 'system'
}

/** Without the attribute, the style sheet follows the system setting. */
export const applyTheme = (theme: Theme): void => {
  const { dataset } = document.documentElement
  if (theme === 'system') delete dataset['theme']
  else dataset['theme'] = theme
}

export const keepTheme = (theme: Theme): void => {
  write('theme', theme)
  applyTheme(theme)
}

export const shortcutsEnabled = (): boolean => read('shortcuts') !== 'off'
export const keepShortcuts = (enabled: boolean): void => write('shortcuts', enabled ? 'on' : 'off')

export interface SavedView {
  readonly name: string
  /** URL query, such as `?hits=open`. */
  readonly search: string
}

export const savedViews = (organization: string): readonly SavedView[] => {
  try {
    const views: unknown = JSON.parse(read(`views-${organization}`) ?? '[]')
    return Array.isArray(views) ? views : []
  } catch {
    return []
  }
}
export const keepViews = (organization: string, views: readonly SavedView[]): void =>
  write(`views-${organization}`, JSON.stringify(views))

export const lastOrganization = (): string => read('organization') ?? ''
export const keepOrganization = (slug: string): void => write('organization', slug)
