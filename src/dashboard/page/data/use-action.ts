import { useRef, useState } from 'preact/hooks'

export interface Action<Parameters extends readonly unknown[]> {
  readonly busy: boolean
  readonly failure: unknown
  readonly run: (...parameters: Parameters) => void
  readonly clear: () => void
}

export const useAction = <Parameters extends readonly unknown[]>(
  dialogAction: (...parameters: Parameters) => Promise<void>,
): Action<Parameters> => {
  const [busy, setBusy] = useState(false)
  const [failure, setFailure] = useState<unknown>(null)
  const running = useRef(false)
  const perform = async (parameters: Parameters): Promise<void> => {
    if (running.current) return
    running.current = true
    setBusy(true)
    setFailure(null)
    try {
      await dialogAction(...parameters)
    } catch (error) {
      setFailure(error)
    } finally {
      running.current = false
      setBusy(false)
    }
  }
  return { busy, failure, run: (...parameters) => void perform(parameters), clear: () => setFailure(null) }
}
