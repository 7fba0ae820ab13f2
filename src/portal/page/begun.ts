// Remembers whether the person has seen in this browser who requests the verification, and why. Until then, the page
// shows it before they can enter anything (threats row 4).

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
    // Storage is blocked.
  }
}

export const rememberBegun = (sessionId: string): void => {
  try {
    localStorage.setItem(keyOf(sessionId), '1')
  } catch {
    // The visit isn't stored, so the introduction is shown again next time.
  }
}
