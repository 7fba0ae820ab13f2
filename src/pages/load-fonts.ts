// Latin subsets of Inter and IBM Plex Mono, from Fontsource 5.3. Other scripts use system fonts.
import MONO from './fonts/ibm-plex-mono.woff2'
import SANS from './fonts/inter.woff2'

/** Loads the fonts after the first paint, so that they don't delay it. */
export const loadFonts = (): void =>
  new PerformanceObserver((entries, observer) => {
    if (entries.getEntriesByName('first-contentful-paint').length === 0) return
    observer.disconnect()
    document.fonts.add(new FontFace('Inter', `url(${SANS})`, { weight: '100 900', display: 'swap' }))
    document.fonts.add(new FontFace('IBM Plex Mono', `url(${MONO})`, { display: 'swap' }))
  }).observe({ type: 'paint', buffered: true })
