// One request as bytes, for what fetch would not send; the answer as text once the server closed the connection.
import { connect } from 'node:net'

/** @param sent has to ask for the closing: `Connection: close`, or HTTP/1.0. */
export const exchange = (port: number, sent: string): Promise<string> =>
  new Promise((resolve, reject) => {
    let answer = ''
    const socket = connect(port, '127.0.0.1', () => socket.write(sent))
    socket.on('data', (chunk) => {
      answer += chunk.toString('latin1')
    })
    socket.on('error', reject)
    socket.on('close', () => resolve(answer))
  })
