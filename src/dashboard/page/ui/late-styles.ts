// Loads the style sheet for all but the first pages when a component first needs it.
let loading: Promise<void> | null = null

/** Rejects if the service doesn't respond; the next call tries again. */
export const loadLateStyles = (): Promise<void> => {
  loading ??= new Promise<void>((resolve, reject) => {
    const link = document.createElement('link')
    link.rel = 'stylesheet'
    link.href = document.querySelector<HTMLMetaElement>('meta[name="late-styles"]')?.content ?? ''
    link.onload = () => resolve()
    link.onerror = () => {
      link.remove()
      loading = null
      reject(new Error('the style sheet could not be loaded'))
    }
    document.head.append(link)
  })
  return loading
}
