/** @returns the first block of which it is true, if it is true of the last; nodes keep the states of few blocks */
export const firstWhere = async (
  last: number,
  isTrue: (number: number) => Promise<boolean>,
): Promise<number | undefined> => {
  if (last < 0 || !(await isTrue(last))) return undefined
  let high = last
  let low = -1
  for (let step = 1; high > 0; step *= 2) {
    const number = Math.max(0, high - step)
    if (!(await isTrue(number))) {
      low = number
      break
    }
    high = number
  }
  while (high - low > 1) {
    const middle = (high + low) >> 1
    if (await isTrue(middle)) high = middle
    else low = middle
  }
  return high
}
