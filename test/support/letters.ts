import { type KeptLetter, openDeadLetters } from '#src/platform/broker/index.ts'
import type { Client } from '#src/platform/database/index.ts'

/** The dead letters in a database, the oldest first. */
export const lettersIn = async (sql: Client): Promise<readonly KeptLetter[]> => {
  const box = openDeadLetters(sql)
  const listed = await box.list(1_000)
  const letters = await Promise.all(listed.map(({ id }) => box.find(id)))
  return letters.filter((letter) => letter !== undefined).reverse()
}
