import { userInfo } from 'node:os'
import type { Actor } from './domain.ts'

/** Who runs a command on this machine. */
export const commandActor = (): Actor => ({ id: `cli:${userName()}`, requestId: undefined })

const userName = (): string => {
  try {
    return userInfo().username
  } catch {
    // In a container the number may have no name.
    return String(process.getuid?.() ?? 'unknown')
  }
}
