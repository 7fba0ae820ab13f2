// Raw HTTP requests, which fetch cannot send.
import { connect } from 'node:net'

/** Sends a request and returns the response. The request must end the connection: `Connection: close`, or HTTP/1.0. */
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
