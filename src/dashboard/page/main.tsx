// Applies the theme first, to avoid a flash.
import { render } from 'preact'
import { loadFonts } from '../../pages/load-fonts.ts'
import { App } from './app.tsx'
// Several files that are loaded later share these; each would otherwise be one more request.
import './attest/curl.ts'
import './data/use-action.ts'
import './data/use-deployment.ts'
import './data/use-form.ts'
import './decisions/labels.tsx'
import './entry/passkey.ts'
import './entry/password.ts'
import './live/limits.ts'
import { followLinks } from './router.ts'
import { applyTheme, storedTheme } from './shell/preferences.ts'
import './ui/copy.tsx'
import './ui/dialog.tsx'
import './ui/field.tsx'
import './ui/time.tsx'

applyTheme(storedTheme())
loadFonts()
followLinks(document)
const place = document.getElementById('app')
if (place !== null) {
  place.replaceChildren()
  render(<App />, place)
}
