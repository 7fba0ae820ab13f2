// Logs a repeated failure once per error class, and its recovery once.
import type { Logger } from './log.ts'

export const createFailureLog = (
  log: Pick<Logger, 'info' | 'warn'>,
  texts: { readonly failed: string; readonly works: string },
) => {
  let failing: string | null = null
  return {
    failed: (errorClass: string) => {
      if (failing !== errorClass) log.warn(texts.failed, { errorClass })
      failing = errorClass
    },
    works: () => {
      if (failing !== null) log.info(texts.works)
      failing = null
    },
  }
}
