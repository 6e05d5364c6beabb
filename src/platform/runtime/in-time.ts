const late = Symbol('late')

/** @throws Error when `asked` has not ended within the time; the work itself goes on */
export const inTime = async <T>(asked: PromiseLike<T>, timeoutMs: number): Promise<T> => {
  const answer = await inTimeOr(asked, timeoutMs, late)
  if (answer === late) throw new Error(`no answer within ${timeoutMs} ms`)
  return answer
}

/** @returns `instead` when `asked` has not ended within the time; the work itself goes on */
export const inTimeOr = async <T, L>(
  asked: PromiseLike<T>,
  timeoutMs: number,
  instead: L,
): Promise<T | L> => {
  const late = Promise.withResolvers<L>()
  const timer = setTimeout(() => late.resolve(instead), timeoutMs)
  try {
    return await Promise.race([asked, late.promise])
  } finally {
    clearTimeout(timer)
  }
}
