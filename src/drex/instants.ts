/** Drizzle keeps the driver from turning timestamps into dates: they come as PostgreSQL writes them. */

/** @param text for example `2026-11-20 20:57:53.58+00` */
export function instantOf(text: string): Date {
  return new Date(text.replace(' ', 'T').replace(/([+-]\d\d)$/, '$1:00'))
}
