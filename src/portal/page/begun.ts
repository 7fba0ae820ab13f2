// Stores whether the person has seen in this browser who requests the verification, and why. A person with a link that
// continues a session has not seen it, so the page shows it before they enter anything (threats row 4).

const keyOf = (sessionId: string): string => `portal-begun-${sessionId}`

export const hasBegun = (sessionId: string): boolean => {
  try {
    return localStorage.getItem(keyOf(sessionId)) !== null
  } catch {
    return false
  }
}

export const forgetBegun = (sessionId: string): void => {
  try {
    localStorage.removeItem(keyOf(sessionId))
  } catch {
    // Storage is blocked, so it contains nothing.
  }
}

export const rememberBegun = (sessionId: string): void => {
  try {
    localStorage.setItem(keyOf(sessionId), '1')
  } catch {
    // Not stored: the page shows the introduction again next time.
  }
}
