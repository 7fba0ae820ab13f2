// What one browser remembers for one person: the theme, whether single keys are shortcuts, the organization last worked in.
// Storage may be forbidden; then it lasts as long as the page.

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
    // Not kept: asked for again next time.
  }
}

export const storedTheme = (): Theme => {
  const theme = read('theme')
  return theme === 'light' || theme === 'dark' ? theme : 'system'
}

/** The style sheet chooses by the attribute; without it, by the system's own setting. */
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

export const lastOrganization = (): string => read('organization') ?? ''
export const keepOrganization = (slug: string): void => write('organization', slug)
