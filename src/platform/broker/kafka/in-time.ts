/** @throws Error when there is no answer within the time; the work itself goes on */
export const inTime = async <T>(asked: Promise<T>, timeoutMs: number): Promise<T> => {
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(
    () => late.reject(new Error(`no answer within ${timeoutMs} ms`)),
    timeoutMs,
  )
  try {
    return await Promise.race([asked, late.promise])
  } finally {
    clearTimeout(timer)
  }
}
