// Whether the person has seen, in this browser, who asks and what for. Whoever was passed a link that goes on in the middle
// has not, and is told before anything is given (threats row 4).

const keyOf = (sessionId: string): string => `portal-begun-${sessionId}`

export const hasBegun = (sessionId: string): boolean => {
  try {
    return localStorage.getItem(keyOf(sessionId)) !== null
  } catch {
    // Storage is forbidden: said once more than needed.
    return false
  }
}

export const forgetBegun = (sessionId: string): void => {
  try {
    localStorage.removeItem(keyOf(sessionId))
  } catch {
    // Storage is forbidden: there is nothing in it.
  }
}

export const rememberBegun = (sessionId: string): void => {
  try {
    localStorage.setItem(keyOf(sessionId), '1')
  } catch {
    // Not kept: said again the next time.
  }
}
