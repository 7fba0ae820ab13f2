// Process of signing-workers.test.ts: several workers load a backend simultaneously. Prints each error, then `loaded`.
import { loadNodeSecp256k1 } from '../../src/signing/secp256k1-node.ts'
import { loadSystemSecp256k1 } from '../../src/signing/secp256k1-system.ts'

const WORKERS = 4

interface Start {
  readonly name: string
  /** Number of ready workers; they start when all are ready. */
  readonly ready: Int32Array
}

const loadTogether = ({ name, ready }: Start): string => {
  Atomics.add(ready, 0, 1)
  while (Atomics.load(ready, 0) < WORKERS);
  try {
    if (name === 'secp256k1-node') loadNodeSecp256k1()
    else loadSystemSecp256k1()
    return ''
  } catch (error) {
    return String(error)
  }
}

const start = (message: Start): Promise<string> =>
  new Promise((resolve) => {
    const worker = new Worker(import.meta.path)
    worker.onerror = () => resolve('a worker failed')
    worker.onmessage = (event: MessageEvent) => resolve(event.data)
    worker.postMessage(message)
  })

if (Bun.isMainThread) {
  const message: Start = { name: process.argv[2] ?? '', ready: new Int32Array(new SharedArrayBuffer(4)) }
  const reasons = await Promise.all(Array.from({ length: WORKERS }, () => start(message)))
  for (const reason of reasons.filter((text) => text !== '')) console.log(reason)
  console.log('loaded')
  process.exit(0)
} else {
  addEventListener('message', (event) => postMessage(loadTogether(event.data)))
}
