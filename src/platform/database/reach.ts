import postgres from 'postgres'
import { namedConnection } from './session-name.ts'

const timeoutSeconds = 5

/**
 * Connects once.
 *
 * @param name the setting that holds the address
 * @throws Error of one line, which names the setting and not the password
 */
export const demandDatabase = async (name: string, given: string): Promise<void> => {
  try {
    const { dsn, hosts } = namedConnection(given)
    const sql = postgres(dsn, {
      ...hosts,
      max: 1,
      connect_timeout: timeoutSeconds,
      onnotice: () => {},
    })
    await sql`select 1`.finally(() => sql.end({ timeout: 1 }))
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new Error(`${name}: the database cannot be reached: ${reason}`, { cause: error })
  }
}
