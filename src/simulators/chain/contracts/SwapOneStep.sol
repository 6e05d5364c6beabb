// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

interface IRetailToken {
    function moveAndBurn(address from, uint256 amount) external;
    function mint(address to, uint256 amount) external;
    function allowance(address owner, address spender) external view returns (uint256);
    function reserve() external view returns (address);
}

interface IWholesaleToken {
    function transferFrom(address from, address to, uint256 amount) external returns (bool);
}

/// @title The pilot's one-step exchange of retail money between two institutions.
/// @notice Burns the sender's retail money, moves the same wholesale amount between the two
/// reserves, and mints the receiver's retail money, or does nothing at all.
contract SwapOneStep {
    IWholesaleToken public immutable wholesale;

    event SwapExecuted(
        address indexed tokenSender,
        address indexed tokenReceiver,
        address sender,
        address receiver,
        uint256 amount
    );

    error AllowanceTooSmall(uint256 allowance, uint256 amount);

    constructor(IWholesaleToken wholesale_) {
        wholesale = wholesale_;
    }

    function executeSwap(
        IRetailToken tokenSender,
        IRetailToken tokenReceiver,
        address receiver,
        uint256 amount
    ) external {
        uint256 allowed = tokenSender.allowance(msg.sender, address(this));
        if (allowed < amount) revert AllowanceTooSmall(allowed, amount);
        tokenSender.moveAndBurn(msg.sender, amount);
        wholesale.transferFrom(tokenSender.reserve(), tokenReceiver.reserve(), amount);
        tokenReceiver.mint(receiver, amount);
        emit SwapExecuted(
            address(tokenSender),
            address(tokenReceiver),
            msg.sender,
            receiver,
            amount
        );
    }
}
