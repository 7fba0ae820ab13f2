// What a test and a faulty worker share: the gate at which a job waits, and where it is seen to arrive.

/** How many jobs have arrived at their fault. */
export const GATE_ARRIVED = 0
/** 0: closed. For `fault:native-once`, the work to do. */
export const GATE_OPEN = 1

export interface FaultMessage {
  readonly type: 'gate'
  readonly shared: SharedArrayBuffer
}

export interface Gate {
  readonly shared: SharedArrayBuffer
  /** Resolves once so many jobs have arrived. */
  arrived(count: number): Promise<void>
  open(value?: number): void
}

export const createGate = (): Gate => {
  const shared = new SharedArrayBuffer(8)
  const words = new Int32Array(shared)
  return {
    shared,
    arrived: async (count) => {
      for (;;) {
        const seen = Atomics.load(words, GATE_ARRIVED)
        if (seen >= count) return
        await Atomics.waitAsync(words, GATE_ARRIVED, seen).value
      }
    },
    open: (value = 1) => {
      Atomics.store(words, GATE_OPEN, value)
      Atomics.notify(words, GATE_OPEN)
    },
  }
}
