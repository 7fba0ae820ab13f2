// Starts the dashboard. The theme is applied first to avoid a flash.
import { render } from 'preact'
import { loadFonts } from '../../pages/load-fonts.ts'
import { App } from './app.tsx'
import { followLinks } from './router.ts'
import { applyTheme, storedTheme } from './shell/preferences.ts'

applyTheme(storedTheme())
loadFonts()
followLinks(document)
const place = document.getElementById('app')
if (place !== null) {
  place.replaceChildren()
  render(<App />, place)
}
