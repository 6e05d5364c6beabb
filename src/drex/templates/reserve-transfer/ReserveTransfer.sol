// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

interface IConvertible {
    function mint(address to, uint256 amount) external;
    function moveAndBurn(address from, uint256 amount) external;
}

/// @title Converts reserves into wholesale currency and back, for whoever asks, as far as a limit goes.
/// @notice The shape of the pilot's STR, which stands in for the reserves' own system: nothing
/// here knows what reserves the caller has. It needs the currency's MINTER_ROLE and MOVER_ROLE.
contract ReserveTransfer {
    IConvertible public immutable token;
    /// Most that one request converts.
    uint256 public immutable requestMax;

    event Minted(address indexed account, uint256 amount);
    event Burned(address indexed account, uint256 amount);

    error InvalidAmount(uint256 amount, uint256 max);

    constructor(IConvertible token_, uint256 requestMax_) {
        token = token_;
        requestMax = requestMax_;
    }

    modifier within(uint256 amount) {
        if (amount == 0 || amount > requestMax) revert InvalidAmount(amount, requestMax);
        _;
    }

    /// @notice Reserves become currency of the caller.
    function requestToMint(uint256 amount) external within(amount) {
        token.mint(msg.sender, amount);
        emit Minted(msg.sender, amount);
    }

    /// @notice Currency of the caller becomes reserves again.
    function requestToBurn(uint256 amount) external within(amount) {
        token.moveAndBurn(msg.sender, amount);
        emit Burned(msg.sender, amount);
    }
}
